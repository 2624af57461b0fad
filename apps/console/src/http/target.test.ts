import { describe, expect, test } from '@jest/globals';
import { targetOf } from './target.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const target = (url: string, accept?: string, { method = 'GET', prefix = '' } = {}) =>
  targetOf({ method, url, headers: accept === undefined ? {} : { accept } }, prefix);

describe('a path', () => {
  test.each([
    [undefined, 'page'],
    ['*/*', 'page'],
    [BROWSER, 'page'],
    ['text/html, application/json', 'page'],
    ['application/json;q=0.5, text/html', 'page'],
    ['application/json;q=0', 'page'],
    ['application/json', 'api'],
    ['application/json, text/plain, */*', 'api'],
    ['APPLICATION/JSON; q=0.9', 'api'],
    ['text/html;q=0.5, application/json', 'api'],
  ])('with Accept %s leads to the %s (G1)', (accept, to) => {
    expect(target('/jobs?pool=a', accept)).toMatchObject({ to });
  });

  test('in .json leads to the API with its filters', () => {
    expect(target('/jobs/7.json?a=b', BROWSER)).toEqual({
      to: 'api',
      pathname: '/api/v1/jobs/7',
      query: new URLSearchParams('a=b'),
    });
  });

  test.each([
    ['/.json', '/pools'],
    ['/jobs.json', '/jobs'],
    ['/runs/7.json?owner=acme', '/runs/7/why'],
    ['/installations.json', '/installations'],
  ])('%s leads to %s of the API', (url, path) => {
    expect(target(url)).toMatchObject({ to: 'api', pathname: `/api/v1${path}` });
    expect(target(url.replace('.json', ''), 'application/json')).toEqual(target(url));
  });

  test.each([
    ['/api/v1/jobs', 'api'],
    ['/api/nothing', 'api'],
    ['/session', 'session'],
    ['/changes?pools=1', 'changes'],
    ['/', 'page'],
    ['/assets/page.js', 'file'],
    ['/assets/../../etc/passwd', 'file'],
    ['/nothing', 'page'],
  ])('%s is for the %s', (path, to) => {
    expect(target(path)).toMatchObject({ to });
  });

  test('of an action is the API’s', () => {
    expect(target('/jobs/7', BROWSER, { method: 'POST' })).toMatchObject({
      to: 'api',
      pathname: '/jobs/7',
    });
  });

  test.each([
    ['/tools/paddock/jobs', { to: 'page', pathname: '/jobs' }],
    ['/tools/paddock', { to: 'page', pathname: '/' }],
    ['/tools/paddock/', { to: 'page', pathname: '/' }],
    ['/tools/paddock/assets/a.js', { to: 'file', name: 'a.js' }],
    ['/tools/paddocks', { to: 'page', pathname: '/tools/paddocks' }],
    ['/jobs', { to: 'page', pathname: '/jobs' }],
  ])('%s loses its prefix', (path, expected) => {
    expect(target(path, undefined, { prefix: '/tools/paddock' })).toEqual(expected);
  });
});
