import { inspect } from 'node:util';

const MASK = '[secret]';

/**
 * Holds a value that must not be printed. Logs, JSON, templates and inspect show a mask; only
 * `reveal()` gives the value.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
