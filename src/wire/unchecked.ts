import { z } from 'zod';

const Unchecked = z.core.$constructor<z.ZodLazy, z.core.$ZodLazyDef>('Unchecked', (inst, def) => {
	z.ZodLazy.init(inst, def);
	inst._zod.parse = (payload) => payload;
});

/**
 * A value that is neither checked nor copied, because that would cost too much or lose a part of it. The
 * documentation describes it as `described` does.
 */
export function unchecked<T = unknown>(described: z.ZodType): z.ZodType<T, T> {
	return new Unchecked({ type: 'lazy', getter: () => described }) as unknown as z.ZodType<T, T>;
}
