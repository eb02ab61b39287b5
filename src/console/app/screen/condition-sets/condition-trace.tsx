import { KeyText } from '../../part/key-text.js';

/** Result of a condition part: the members of the server's response that the console shows. */
interface Trace {
	readonly kind?: unknown;
	/** The result: `true`, `false` or `mistyped`. */
	readonly holds?: unknown;
	readonly why?: unknown;
	readonly condition?: unknown;
	readonly conditions?: unknown;
	readonly items?: unknown;
}

const titles: Readonly<Record<string, string>> = {
	all: 'All of these',
	any: 'Any of these',
	not: 'Not this',
};

/** Explains the result of conditions, part by part. */
export function ConditionTrace({ trace }: { readonly trace: Trace }) {
	return (
		<ul class="condition-sets-trace">
			<TracePart trace={trace} />
		</ul>
	);
}

function TracePart({ trace }: { readonly trace: Trace }) {
	const { kind, holds, why } = trace;
	const parts = partsIn(trace);
	const [mark, words] =
		holds === true ? ['✓', 'matches'] : holds === false ? ['✗', 'does not match'] : ['⚠', 'not comparable'];
	return (
		<li>
			<span class={holds === true ? 'state good' : 'state bad'} aria-hidden="true">
				{mark}
			</span>{' '}
			<span class="unseen">{words}: </span>
			{typeof why === 'string' ? <KeyText text={why} /> : (titles[String(kind)] ?? String(kind))}
			{parts.length > 0 && (
				<ul>
					{parts.map((part, index) => (
						<TracePart key={index} trace={part} />
					))}
				</ul>
			)}
		</li>
	);
}

function partsIn({ condition, conditions, items }: Trace): readonly Trace[] {
	if (Array.isArray(conditions)) return conditions;
	if (Array.isArray(items)) return items;
	return typeof condition === 'object' && condition !== null ? [condition as Trace] : [];
}
