import type { Environment } from '@paddock/runtime/settings';

/** Where traces go, by the variables that OpenTelemetry defines. */
export interface Collector {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** What the traces are of: `service.name`, and what the operator adds. */
  readonly resource: Readonly<Record<string, string>>;
}

/** Undefined: no variable asks for traces. A string: why they cannot be sent. */
export function readCollector(environment: Environment): Collector | string | undefined {
  const of = (name: string) => environment[name]?.trim() || undefined;
  const base = of('OTEL_EXPORTER_OTLP_ENDPOINT')?.replace(/\/$/, '');
  const given = of('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base && `${base}/v1/traces`);
  const isOff = of('OTEL_SDK_DISABLED') === 'true' || of('OTEL_TRACES_EXPORTER') === 'none';
  if (given === undefined || isOff) return undefined;
  const protocol = of('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? of('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === 'grpc')
    return 'traces are sent by OTLP over HTTP, not gRPC: name the collector’s port for HTTP, often 4318';
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol))
    return 'the OTLP endpoint is no address such as http://collector:4318';
  return {
    url,
    headers: pairs(of('OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? of('OTEL_EXPORTER_OTLP_HEADERS')),
    resource: {
      'service.name': 'paddock',
      ...pairs(of('OTEL_RESOURCE_ATTRIBUTES')),
      ...(of('OTEL_SERVICE_NAME') && { 'service.name': of('OTEL_SERVICE_NAME') ?? '' }),
    },
  };
}

/** As `key=value,other=value`, percent-encoded. */
const pairs = (text = ''): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
    }),
  );

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
