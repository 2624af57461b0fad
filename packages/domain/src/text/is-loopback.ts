/** An address of this machine, reached without a network. */
export const isLoopback = ({ hostname }: Pick<URL, 'hostname'>): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
