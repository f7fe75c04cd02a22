import { toChecked } from './verdict';

test.each([
  [{ state: 'pending' }, { state: 'pending' }],
  [{ state: 'expired' }, { state: 'expired' }],
  [{ state: 'expired', reason: null }, { state: 'expired' }],
  [
    { state: 'expired', reason: 'too old' },
    { state: 'expired', reason: 'too old' },
  ],
  [
    { state: 'decided', verdict: 'rejected', reasons: ['no price'] },
    { state: 'ready', answer: { submissionId: 's', verdict: 'rejected', reasons: ['no price'] } },
  ],
])('%j', (said, checked) => {
  expect(toChecked('s', said)).toEqual(checked);
});

test.each([{}, { reasons: null }])('a verdict without reasons (%j) has none of them', (more) => {
  const checked = toChecked('s', { state: 'decided', verdict: 'accepted', ...more });
  expect(checked).toEqual({ state: 'ready', answer: { submissionId: 's', verdict: 'accepted', reasons: [] } });
});

test('a verdict that is not known is passed on, for its schema to refuse', () => {
  expect(toChecked('s', { state: 'decided', verdict: 'perhaps' })).toMatchObject({ answer: { verdict: 'perhaps' } });
});

test.each([{ state: 'in_review' }, {}, null, 'pending'])('%j is a state that is not known', (said) => {
  expect(toChecked('s', said)).toBeUndefined();
});
