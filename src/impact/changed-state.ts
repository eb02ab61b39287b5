import type { Patch } from '../../compiler/model.js';
import type { Run } from '../pdp/engine/engine.js';
import type { EngineAndIndex } from '../pdp/follow/load-snapshot.js';
import { closurePatches } from './index-closures.js';
import type { ImpactQuestion } from './messages.js';

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

/** Advances the held state to the state before a change, and returns the state after the change. */
export async function stateAfter(
	held: EngineAndIndex,
	{ advance, patches, closures, policy }: Pick<ImpactQuestion, 'advance' | 'patches' | 'closures' | 'policy'>,
	run: Run,
): Promise<EngineAndIndex> {
	await patchState(held, advance.patches, run);
	const after = await changedState(held, { policy, patches }, run);
	if (closures !== null) {
		await patchState(after, closurePatches(after.facts, closures.schema, closures.in_force), run);
	}
	return after;
}

export async function patchState(
	{ engine, facts }: EngineAndIndex,
	patches: readonly Patch[],
	run: Run,
): Promise<void> {
	await run(engine.patching(patches));
	await run(facts.patching(patches));
}
