import { z } from 'zod';
import { nextTurn } from '../limit/next-turn.js';

/**
 * Lists and maps in requests. Unlike zod's own types, they reject a list that is too long before validating its items,
 * and they stop validating at the twentieth problem. Otherwise, a body with many invalid items could take unlimited
 * time and memory.
 */

/** Number of problems after which validation of a list or map stops. */
export const maxProblems = 20;

/** Time in milliseconds after which validation yields to the event loop, and number of items between clock readings. */
const sliceMilliseconds = 5;
const itemsBetweenLooks = 16;

/** In a plain JavaScript object, setting a property with this name changes the prototype instead. */
export const reservedName = '__proto__';

type Context = z.core.ParseContextInternal;
type Payload = z.core.ParsePayload;
type Ran = ReturnType<z.core.$ZodType['_zod']['run']>;

/** Default item limit for a list. */
export const maxItems = 10_000;

/** Schema for a list in a request, with at most `most` items. `message` is the message for a longer list. */
export function boundedArray<S extends z.ZodType>(
	element: S,
	most = maxItems,
	message = `must have at most ${most} items`,
): z.ZodArray<S> {
	return unboundedArray(element).max(most, message);
}

/** Like `boundedArray`, but without a limit for items. For requests with a larger size limit. */
export function unboundedArray<S extends z.ZodType>(element: S): z.ZodArray<S> {
	return new BoundedArray({ type: 'array', element }) as z.ZodArray<S>;
}

/** Schema for a map in a request. Names must match `name`, which also contains the message for an invalid name. */
export function boundedRecord<S extends z.ZodType>(name: z.ZodString, value: S): z.ZodRecord<z.ZodString, S> {
	return new BoundedRecord({ type: 'record', keyType: name, valueType: value }) as z.ZodRecord<z.ZodString, S>;
}

/**
 * Schema for a value with one of two shapes. The value is inspected to choose its shape, and only problems with this
 * shape are reported.
 */
export function choice<First extends z.ZodType, Second extends z.ZodType>(
	isFirst: (value: unknown) => boolean,
	first: First,
	second: Second,
): z.ZodUnion<readonly [First, Second]> {
	const options = [first, second] as const;
	return new Choice({ type: 'union', options, isFirst }) as unknown as z.ZodUnion<readonly [First, Second]>;
}

interface ChoiceDef extends z.core.$ZodUnionDef {
	readonly isFirst: (value: unknown) => boolean;
}

const Choice = z.core.$constructor<z.ZodUnion, ChoiceDef>('Choice', (inst, def) => {
	z.ZodUnion.init(inst, def);
	const [first, second] = def.options;
	inst._zod.parse = (payload, ctx) => {
		const chosen = def.isFirst(payload.value) ? first : second;
		return chosen?._zod.run(payload, ctx) ?? payload;
	};
});

const BoundedArray = z.core.$constructor<z.ZodArray, z.core.$ZodArrayDef>('BoundedArray', (inst, def) => {
	z.ZodArray.init(inst, def);
	const parseAsZod = inst._zod.parse;
	inst._zod.parse = (payload, ctx) => {
		const input = payload.value as unknown;
		// Zod rejects a value that is not a list, or a list that is too long, before it validates the items.
		if (!Array.isArray(input) || input.length > longest(def)) return parseAsZod(payload, ctx);
		const output: unknown[] = [];
		payload.value = output;
		return runSteps(payload, ctx, input.length, (index) =>
			withResult(def.element._zod.run({ value: input[index], issues: [] }, ctx), ({ value, issues }) => {
				payload.issues.push(...z.core.util.prefixIssues(index, issues));
				output.push(value);
			}),
		);
	};
});

const BoundedRecord = z.core.$constructor<z.ZodRecord, z.core.$ZodRecordDef>('BoundedRecord', (inst, def) => {
	z.ZodRecord.init(inst, def);
	inst._zod.parse = (payload, ctx) => {
		const input = payload.value as unknown;
		if (!z.core.util.isPlainObject(input)) {
			return refuse(payload, { code: 'invalid_type', expected: 'record', input, inst });
		}
		const names = Object.keys(input);
		const output: Record<string, unknown> = {};
		payload.value = output;
		return runSteps(payload, ctx, names.length, (index) => {
			const name = names[index] ?? '';
			const problem = problemWithName(def.keyType, name);
			if (problem !== undefined) {
				refuse(payload, {
					code: 'invalid_key',
					origin: 'record',
					issues: [],
					input: name,
					path: [name],
					message: problem,
				});
				return undefined;
			}
			return withResult(def.valueType._zod.run({ value: input[name], issues: [] }, ctx), ({ value, issues }) => {
				payload.issues.push(...z.core.util.prefixIssues(name, issues));
				output[name] = value;
			});
		});
	};
});

/** Returns the item limit that was set with `max`. */
function longest({ checks = [] }: z.core.$ZodArrayDef): number {
	const limits = checks.map(({ _zod }) => (_zod.def as { readonly maximum?: number }).maximum);
	return Math.min(...limits.filter((limit) => limit !== undefined));
}

function refuse(payload: Payload, issue: z.core.$ZodRawIssue): Payload {
	payload.issues.push(issue);
	return payload;
}

function problemWithName(schema: z.core.$ZodType, name: string): string | undefined {
	if (name === reservedName) return 'is a reserved name';
	const parsed = z.core.safeParse(schema, name);
	return parsed.success ? undefined : (parsed.error.issues[0]?.message ?? 'is not a valid key');
}

/** Calls `take` with the result: immediately, or after the promise resolves. */
function withResult(ran: Ran, take: (result: Payload) => void): Promise<void> | undefined {
	if (ran instanceof Promise) return ran.then(take);
	take(ran);
	return undefined;
}

/**
 * Calls `step` for each index until there are enough problems. If parsing is asynchronous, yields to the event loop
 * between slices.
 */
function runSteps(
	payload: Payload,
	ctx: Context,
	count: number,
	step: (index: number) => Promise<void> | undefined,
): Payload | Promise<Payload> {
	let since = performance.now();
	const from = (first: number): Payload | Promise<Payload> => {
		for (let index = first; index < count && payload.issues.length < maxProblems; index++) {
			const ran = step(index);
			if (ran !== undefined) return ran.then(() => from(index + 1));
			if (!ctx.async || index % itemsBetweenLooks !== itemsBetweenLooks - 1) continue;
			if (performance.now() - since < sliceMilliseconds) continue;
			return nextTurn().then(() => {
				since = performance.now();
				return from(index + 1);
			});
		}
		return payload;
	};
	return from(0);
}
