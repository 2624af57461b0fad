import { describe, expect, test } from '@jest/globals';
import { HELM, renderChart } from '@paddock/testing/render-chart';
import { LEAST } from '../scenes/chart-releases.scene.ts';

const described = HELM === undefined ? describe.skip : describe;

described('the policy of the console (H3; needs helm)', () => {
  test.each([
    ['https://login.example.com', 443],
    ['https://login.example.com:8443/realms/ci', 8443],
    ['https://10.1.2.3', 443],
    ['https://idp2', 443],
  ])('opens the port of the issuer %s', (issuer, port) => {
    const oidc = { url: 'https://ci.test', issuer, clientId: 'paddock' };
    const set = { ...LEAST, console: { signIn: { groups: { read: ['*'] }, oidc } } };
    const policy = renderChart({ release: 'paddock', namespace: 'paddock', set }).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'paddock-console',
    );
    const egress = policy?.spec?.['egress'] as object[] | undefined;
    expect(egress?.at(-1)).toEqual({ ports: [{ protocol: 'TCP', port }] });
  });
});
