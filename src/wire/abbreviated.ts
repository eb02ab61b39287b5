import { z } from 'zod';

interface AbbreviatedDef extends z.core.$ZodUnionDef {
	readonly expand: (text: string) => unknown;
}

const Abbreviated = z.core.$constructor<z.ZodUnion, AbbreviatedDef>('Abbreviated', (inst, def) => {
	z.ZodUnion.init(inst, def);
	const [, whole] = def.options;
	inst._zod.parse = (payload, ctx) => {
		if (typeof payload.value === 'string') payload.value = def.expand(payload.value);
		return whole?._zod.run(payload, ctx) ?? payload;
	};
});

/**
 * Schema for an object that clients may abbreviate as a string. `expand` converts the string to the object, and `whole`
 * validates the object. The documentation shows both forms; `text` describes the abbreviation.
 */
export function abbreviated<S extends z.ZodType>(
	text: z.ZodString,
	whole: S,
	expand: (text: string) => unknown,
): z.ZodType<z.output<S>, z.input<S> | string> {
	const options = [text, whole] as const;
	return new Abbreviated({ type: 'union', options, expand }) as unknown as z.ZodType<z.output<S>, z.input<S> | string>;
}
