import { deliveryConformance } from './delivery';
import { queueConformance } from './suite';
import { waitingConformance } from './waiting';

jest.setTimeout(90_000);

describe('the activity queue', () => {
  describe('working', () => queueConformance('activity'));
  describe('delivering', () => deliveryConformance('activity'));
  waitingConformance('activity');
});
