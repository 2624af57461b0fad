import { expect, test } from '@jest/globals';
import { isOfficialImage } from './official-image.ts';

test.each([
  ['ghcr.io/actions/actions-runner', true],
  ['ghcr.io/actions/actions-runner:2.336.0', true],
  ['mirror.example.com/ghcr/actions/actions-runner@sha256:abc', true],
  ['actions/actions-runner:latest', true],
  ['ghcr.io/acme/actions-runner:1', false],
  ['ghcr.io/transactions/actions-runner:1', false],
  ['ghcr.io/actions/actions-runner-dind:1', false],
])('%s is the official image: %s', (image, isOfficial) => {
  expect(isOfficialImage(image)).toBe(isOfficial);
});
