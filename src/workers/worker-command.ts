/** Internal command for decision point workers. */
export const workerCommand = 'decision-worker';
