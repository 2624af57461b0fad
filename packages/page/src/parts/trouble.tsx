import type { Trouble } from '../state/trouble.ts';

/** Why there is no answer, or none any longer, in the API’s words. */
export const TroubleNote = ({ trouble }: { trouble: Trouble }) => (
  <div class="trouble" role="alert">
    <strong>{trouble.title}.</strong> {trouble.errors === undefined && trouble.detail}
    {trouble.errors && (
      <ul>
        {trouble.errors.map(({ place, message }) => (
          <li key={place}>
            <code>{place.replace(/^(query|body|path)\./, '')}</code>: {message}
          </li>
        ))}
      </ul>
    )}
  </div>
);
