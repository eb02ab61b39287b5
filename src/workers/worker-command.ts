/** The command that a worker of a decision point runs. It is no command for people. */
export const workerCommand = 'decision-worker';
