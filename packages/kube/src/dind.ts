import type { Additions, EnvVar, Mount } from './pod-overlay.ts';

const SOCKET = 'unix:///var/run/docker.sock';
const EXTERNALS = '/home/runner/externals';
/** An empty place in the runner's image, so that the volume hides nothing while it is filled. */
const EXTERNALS_COPY = '/home/runner/tmpDir';
const WORK_MOUNT = { name: 'work', mountPath: '/home/runner/_work' };
const SOCKET_MOUNT = { name: 'dind-sock', mountPath: '/var/run' };

/** The group `docker` of the runner's image: its members may use the socket. */
const DOCKER_GROUP_ID = '123';

/**
 * A Docker daemon beside the runner, with the names that actions-runner-controller uses. It is a
 * native sidecar (Kubernetes 1.29): it is ready before the runner starts, and the pod ends without
 * it.
 */
export function dindAdditions({
  runnerImage,
  env,
  mounts,
}: {
  /** The init container copies Node.js out of this image for the daemon's containers. */
  readonly runnerImage: string;
  readonly env: readonly EnvVar[];
  readonly mounts: readonly Mount[];
}): Additions {
  return {
    env: [
      { name: 'DOCKER_HOST', value: SOCKET },
      { name: 'RUNNER_WAIT_FOR_DOCKER_IN_SECONDS', value: '120' },
    ],
    mounts: [WORK_MOUNT, SOCKET_MOUNT],
    initContainers: [
      {
        name: 'init-dind-externals',
        image: runnerImage,
        command: ['cp', '-r', `${EXTERNALS}/.`, EXTERNALS_COPY],
        volumeMounts: [{ name: 'dind-externals', mountPath: EXTERNALS_COPY }],
      },
      {
        name: 'dind',
        image: 'docker:dind',
        args: ['dockerd', `--host=${SOCKET}`, '--group=$(DOCKER_GROUP_GID)'],
        env: [{ name: 'DOCKER_GROUP_GID', value: DOCKER_GROUP_ID }, ...env],
        securityContext: { privileged: true },
        restartPolicy: 'Always',
        startupProbe: {
          exec: { command: ['docker', 'info'] },
          failureThreshold: 24,
          periodSeconds: 5,
        },
        volumeMounts: [
          WORK_MOUNT,
          SOCKET_MOUNT,
          { name: 'dind-externals', mountPath: EXTERNALS },
          ...mounts,
        ],
      },
    ],
    volumes: ['work', 'dind-sock', 'dind-externals'].map((name) => ({ name, emptyDir: {} })),
  };
}
