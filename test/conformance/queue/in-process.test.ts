import { deliveryConformance } from './delivery';
import { queueConformance } from './suite';
import { waitingConformance } from './waiting';

jest.setTimeout(90_000);

describe('the in-process queue', () => {
  describe('working', () => queueConformance('in-process'));
  describe('delivering', () => deliveryConformance('in-process'));
  waitingConformance('in-process');
});
