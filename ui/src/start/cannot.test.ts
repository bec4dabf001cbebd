import { expect, it } from 'vitest';

import { t } from '../text';
import { wayOutOf } from './cannot';

it.each(['bad_folder', 'storage', 'disk_full', 'bad_config', 'internal'] as const)(
  'U11: a start that fails with %s has a heading and a way out',
  (code) => {
    const { title, steps } = wayOutOf(code);
    expect(t(title)).not.toBe(title);
    expect(steps.length).toBeGreaterThan(0);
    expect(new Set(steps).size).toBe(steps.length);
  },
);

it('U11: no two kinds that a start is known to fail with share a heading', () => {
  const codes = ['bad_folder', 'storage', 'disk_full', 'bad_config', 'internal'] as const;
  expect(new Set(codes.map((code) => wayOutOf(code).title)).size).toBe(codes.length);
});
