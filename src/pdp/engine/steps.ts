/** Work that may be interrupted wherever it yields. It yields often: after a few hundred microseconds at the latest. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does all of it at one stretch. */
export function atOnce<T>(steps: Steps<T>): T {
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}
