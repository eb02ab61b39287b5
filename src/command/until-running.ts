import { RefusedKeyError, type StartedPoint, untilAnswering } from '../compose/compose.js';
import { ExitCodeError, say } from './console.js';

/** Whoever restarts a decision point should not restart one that ends so (contract of decision points, 6.1). */
const refusedKeyExitCode = 3;

/** How to wait for a decision point that has nothing to answer from yet. */
export interface WaitOptions {
	/** Whether to go on when the control plane refuses the key. */
	readonly wait?: boolean;
	/** Ends the wait. */
	readonly interrupted?: AbortSignal;
}

/**
 * Waits until a decision point answers checks, and says why it does not yet. Rejects with `ExitCodeError` when the
 * control plane refuses its key, unless it is to wait even so.
 */
export async function untilRunning(
	{ started }: { readonly started: StartedPoint },
	controlPlane: string,
	{ wait = false, interrupted }: WaitOptions,
): Promise<void> {
	const tell = (reason: string) => say(`waiting for ${controlPlane}: ${reason}`);
	try {
		await untilAnswering(started, { say: tell, throughRefusal: wait, ...(interrupted && { interrupted }) });
	} catch (error) {
		if (!(error instanceof RefusedKeyError)) throw error;
		throw new ExitCodeError(
			`PDP_API_KEY: ${controlPlane} does not accept it: ${error.message}. Set PDP_API_KEY to the key of an environment there, or PDP_CONTROL_PLANE to the API that it is of; with --wait this goes on asking`,
			refusedKeyExitCode,
		);
	}
}
