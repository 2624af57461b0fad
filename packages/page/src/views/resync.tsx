import type { ResyncState } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { resyncPath } from './jobs.ts';
import { switchPath } from './switches.ts';

/** Whether a repository may be compared with GitHub, when it last was, and to have it done. */
export function Resync({ fullName }: { fullName: string }) {
  const path = resyncPath(fullName);
  const { answer, again } = useAnswer<ResyncState>(path, ['switches', 'operations']);
  if (answer === undefined) return null;
  const { subject, held, finishedAt } = answer;
  return (
    <>
      {held === null && (
        <Act label="Resync …" method="POST" path={path}>
          Compares all unfinished runs of {fullName} at GitHub with our jobs.
        </Act>
      )}
      <Act
        label={held === null ? 'Forbid resyncs …' : 'Allow resyncs …'}
        method={held === null ? 'PUT' : 'DELETE'}
        path={switchPath(subject)}
        again={again}
      >
        {held === null
          ? `Refuses resyncs of ${fullName} from now on. One that runs ends within seconds.`
          : `Allows resyncs of ${fullName} again.`}
      </Act>
      <span class="quiet">
        {held !== null
          ? `${held.by} forbids resyncs${held.note === null ? '' : `: ${held.note}`}`
          : finishedAt !== null && (
              <>
                resynced <Ago at={finishedAt} />
              </>
            )}
      </span>
    </>
  );
}
