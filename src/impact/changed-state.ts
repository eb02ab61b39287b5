import type { Patch } from '../../compiler/model.js';
import type { Run } from '../pdp/engine/engine.js';
import type { EngineAndIndex } from '../pdp/follow/load-snapshot.js';

/** Difference between two states. */
interface StateDifference {
	/** New policy module; `null` if unchanged. */
	readonly policy: Uint8Array | null;
	readonly patches: readonly Patch[];
}

/** Creates a changed state. The passed state does not change. */
export async function changedState(
	{ engine, facts }: EngineAndIndex,
	{ policy, patches }: StateDifference,
	run: Run,
): Promise<EngineAndIndex> {
	const next =
		policy === null
			? await engine.copy(run)
			: await engine.fork(await WebAssembly.compile(policy as Uint8Array<ArrayBuffer>), run);
	const changed = { engine: next, facts: await run(facts.copying()) };
	await patchState(changed, patches, run);
	return changed;
}

/** Patches a state. */
export async function patchState(
	{ engine, facts }: EngineAndIndex,
	patches: readonly Patch[],
	run: Run,
): Promise<void> {
	await run(engine.patching(patches));
	await run(facts.patching(patches));
}
