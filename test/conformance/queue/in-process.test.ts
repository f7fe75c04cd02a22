import { deliveryConformance } from './delivery';
import { queueConformance } from './suite';

jest.setTimeout(90_000);

describe('the in-process queue', () => {
  describe('working', () => queueConformance('in-process'));
  describe('delivering', () => deliveryConformance('in-process'));
});
