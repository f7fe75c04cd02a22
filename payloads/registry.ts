import { createRegistry } from '../contract';
import feedSubmit from './feed-submit';
import pageFetch from './page-fetch';
import { itemEcho } from './trial/item-echo';
import { itemSleep } from './trial/item-sleep';
import vehicleNormalize from './vehicle-normalize';

/** Every payload of this deployment: all that the runner imports from here. */
export const registry = createRegistry([feedSubmit, itemEcho, itemSleep, pageFetch, vehicleNormalize]);
