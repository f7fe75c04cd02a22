/** How many deaths alone make an item a dead letter. */
export const DEATH_LIMIT = 2;

/** How many times an item may be in a unit that was lost, its worker unable to say what had started, before it is a suspect. */
export const LOSS_LIMIT = 3;
