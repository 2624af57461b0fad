import type { Findings } from '../answers.ts';
import { View } from '../parts/view.tsx';

const HEADINGS = { mend: 'To mend', remark: 'To know', unchecked: 'Not checked' } as const;
const LEVELS = ['mend', 'remark', 'unchecked'] as const;

/** Some of it passes by itself, and no table tells. */
const EVERY_MS = 15_000;

/** What is wrong with the installation, as far as the console may know. */
export const Doctor = () => (
  <View<Findings> path="/findings" tables={['switches']} title="Doctor" everyMs={EVERY_MS}>
    {({ isWell, findings }) => (
      <>
        {isWell && <p class="none">Nothing that was checked has to be mended.</p>}
        {LEVELS.map((level) => {
          const sentences = findings.filter((one) => one.level === level);
          return (
            sentences.length > 0 && (
              <section key={level}>
                <h2>{HEADINGS[level]}</h2>
                {sentences.map(({ part, sentence }) => (
                  <p class={level === 'mend' ? 'trouble' : 'held'} key={sentence}>
                    {sentence} <span class="quiet">{part}</span>
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
