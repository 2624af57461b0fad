import type { AnswerOf } from '../answers.ts';
import { Link, Words } from '../parts/inline.tsx';
import { View } from '../parts/view.tsx';

const LEVELS = [
  ['mend', 'To mend', 'trouble'],
  ['remark', 'To know', 'held'],
  ['unchecked', 'Not checked', 'quiet'],
] as const;

/** Some of it passes by itself, and no table tells. */
const EVERY_MS = 15_000;

export const Doctor = () => (
  <View<AnswerOf<'listFindings'>>
    path="/findings"
    tables={['switches']}
    title="Doctor"
    everyMs={EVERY_MS}
  >
    {({ isWell, findings }) => (
      <>
        {isWell && <p class="none">Nothing that was checked has to be mended.</p>}
        {LEVELS.map(([level, heading, looks]) => {
          const sentences = findings.filter((one) => one.level === level);
          return (
            sentences.length > 0 && (
              <section key={level}>
                <h2>{heading}</h2>
                {sentences.map(({ part, sentence }) => (
                  <p class={looks} key={sentence}>
                    {/* What holds back work has its ways and acts on the board. */}
                    {part === 'services' ? <Link to="/">{part}</Link> : part}:{' '}
                    <Words of={sentence} />
                  </p>
                ))}
              </section>
            )
          );
        })}
      </>
    )}
  </View>
);
