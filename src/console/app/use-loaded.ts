import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiFailure } from '../model/api-failure.js';
import { lineage, newestRevision, shownRevisions } from './session.js';

/** What a screen reads from the server. */
export interface Loaded<Value> {
	/** What was read last; `null` before the first answer, and when a question with other dependencies failed. */
	readonly value: Value | null;
	/** What the last try failed with. What was read before by the same question stays. */
	readonly failure: Error | null;
	readonly loading: boolean;
	reload(): void;
}

const reloads = signal(0);

/** Reads everything again that is shown. */
export function reloadAll(): void {
	reloads.value += 1;
}

interface LoadedOptions {
	/**
	 * Whether it only accompanies what the screen shows, or is the same at every revision: the bar does not tell of which
	 * revision it is.
	 */
	readonly accompanies?: boolean;
}

/** After how long a server that cannot be reached is asked again, in milliseconds. */
const retryMilliseconds = 3000;

/**
 * Reads something, and again when a dependency changes or `reload` is called. Of several answers the one to the newest
 * question counts; the others are aborted. A server that is away is asked again.
 */
export function useLoaded<Value>(
	load: (signal: AbortSignal) => Promise<Value>,
	dependencies: readonly unknown[],
	{ accompanies = false }: LoadedOptions = {},
): Loaded<Value> {
	/** What is shown by this, among all that is. */
	const { current: shown } = useRef({});
	/** The dependencies that the value was read for. */
	const answers = useRef(dependencies);
	const value = useSignal<Value | null>(null);
	const failure = useSignal<Error | null>(null);
	const loading = useSignal(true);
	const again = useSignal(0);
	useEffect(() => {
		const controller = new AbortController();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const revision = newestRevision.value;
		loading.value = true;
		load(controller.signal).then(
			(answer) => {
				if (controller.signal.aborted) return;
				answers.current = dependencies;
				value.value = answer;
				failure.value = null;
				loading.value = false;
				if (!accompanies) showRevision(shown, answer === null ? null : revision);
			},
			(error: unknown) => {
				if (controller.signal.aborted) return;
				if (dependencies.some((one, index) => one !== answers.current[index])) {
					// It is the answer to another question.
					value.value = null;
					showRevision(shown, null);
				}
				failure.value = error instanceof Error ? error : new Error(String(error));
				loading.value = false;
				if (isAway(error)) {
					timer = setTimeout(() => {
						again.value += 1;
					}, retryMilliseconds);
				}
			},
		);
		return () => {
			controller.abort();
			clearTimeout(timer);
		};
	}, [...dependencies, again.value, reloads.value, lineage.value]);
	useEffect(() => () => showRevision(shown, null), []);
	return {
		value: value.value,
		failure: failure.value,
		loading: loading.value,
		reload: () => {
			again.value += 1;
		},
	};
}

/** Notes of which revision something is that is shown; `null` for nothing any more. */
function showRevision(shown: object, revision: number | null): void {
	const revisions = new Map(shownRevisions.peek());
	if (revision === null) revisions.delete(shown);
	else revisions.set(shown, revision);
	shownRevisions.value = revisions;
}

function isAway(error: unknown): boolean {
	return error instanceof ApiFailure && (error.status === 0 || error.status >= 502);
}
