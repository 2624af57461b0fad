import type { ResyncState } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { resyncPath } from './jobs.ts';

/** Whether a repository may be compared with GitHub, when it last was, and to have it done. */
export function Resync({ fullName }: { fullName: string }) {
  const path = resyncPath(fullName);
  const { answer, again } = useAnswer<ResyncState>(path, ['paused_sweeps', 'operations']);
  if (answer === undefined) return null;
  const { enabled, disabled, finishedAt } = answer;
  return (
    <>
      {enabled && (
        <Act label="Resync …" method="POST" path={path}>
          Compares all unfinished runs of {fullName} at GitHub with our jobs.
        </Act>
      )}
      <Act
        label={enabled ? 'Forbid resyncs …' : 'Allow resyncs …'}
        method="PUT"
        path={path}
        body={{ enabled: !enabled }}
        again={again}
      >
        {enabled
          ? `Refuses resyncs of ${fullName} from now on. One that runs ends within seconds.`
          : `Allows resyncs of ${fullName} again.`}
      </Act>
      <span class="quiet">
        {disabled !== null
          ? `${disabled.by} forbids resyncs${disabled.note === null ? '' : `: ${disabled.note}`}`
          : finishedAt !== null && (
              <>
                resynced <Ago at={finishedAt} />
              </>
            )}
      </span>
    </>
  );
}
