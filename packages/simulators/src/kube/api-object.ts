/**
 * The types of the Kubernetes API that the simulator reads. It passes everything else through
 * unread.
 */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
}

export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: { name: string; key: string } };
}

export interface Container {
  name: string;
  image: string;
  env?: EnvVar[];
}

export interface ContainerState {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: {
    exitCode: number;
    reason: string;
    message?: string;
    startedAt: string;
    finishedAt: string;
  };
}

export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  ready: boolean;
  started: boolean;
  restartCount: number;
  state: ContainerState;
}

export interface Condition {
  type: string;
  status: 'True' | 'False';
  lastTransitionTime: string;
  reason?: string;
  message?: string;
}

export interface PodStatus {
  phase: string;
  reason?: string;
  message?: string;
  startTime?: string;
  conditions?: Condition[];
  containerStatuses?: ContainerStatus[];
}

export interface Pod extends ApiObject {
  spec: {
    containers: Container[];
    nodeName?: string;
    terminationGracePeriodSeconds?: number;
    [field: string]: unknown;
  };
  status: PodStatus;
}

export interface Secret extends ApiObject {
  data?: Record<string, string>;
  immutable?: boolean;
}

export type Resource = 'pods' | 'secrets' | 'services' | 'jobs' | 'events' | 'nodes' | 'namespaces';

export const KIND: Record<Resource, string> = {
  pods: 'Pod',
  secrets: 'Secret',
  services: 'Service',
  jobs: 'Job',
  events: 'Event',
  nodes: 'Node',
  namespaces: 'Namespace',
};

export function isNamespaced(resource: Resource): boolean {
  return resource !== 'nodes' && resource !== 'namespaces';
}

/** The store holds pods under this resource only after `admit` has checked and completed them. */
export function asPod(object: ApiObject): Pod {
  return object as Pod;
}

/** Kubernetes gives instants in whole seconds. */
export function timestamp(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
