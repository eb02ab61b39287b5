import { z } from 'zod';

const Unchecked = z.core.$constructor<z.ZodLazy, z.core.$ZodLazyDef>('Unchecked', (inst, def) => {
	z.ZodLazy.init(inst, def);
	inst._zod.parse = (payload) => payload;
});

/**
 * A value that is not validated or copied, because this would be too expensive or lose data. The documentation shows
 * the schema `described`.
 */
export function unchecked<T = unknown>(described: z.ZodType): z.ZodType<T, T> {
	return new Unchecked({ type: 'lazy', getter: () => described }) as unknown as z.ZodType<T, T>;
}
