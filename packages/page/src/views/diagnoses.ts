/** Text, and the jobs that it names by the terminal's command for them, which here are links. */
export const partsOf = (advice: string): (string | { readonly job: string })[] =>
  advice
    .split(/`paddock why (\d+)`/)
    .map((part, index) => (index % 2 === 0 ? part : { job: part }));
