import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiFailure } from '../model/api-failure.js';
import { lineage, newestRevision, shownRevisions } from './session.js';

/** Data that a screen loads from the server. */
export interface Loaded<Value> {
	/** Latest value; `null` before the first response, and if loading failed after the dependencies changed. */
	readonly value: Value | null;
	/** Failure of the last attempt. An earlier value for the same dependencies is kept. */
	readonly failure: Error | null;
	readonly loading: boolean;
	reload(): void;
}

const reloads = signal(0);

/** Reloads all displayed data. */
export function reloadAll(): void {
	reloads.value += 1;
}

/** Delay before a retry if the server cannot be reached, in milliseconds. */
const retryMilliseconds = 3000;

/**
 * Loads data, and loads it again if the dependencies change or `reload` is called. Only the latest request is used;
 * earlier requests are aborted. Retries if the server cannot be reached or is unavailable (status 502 or higher).
 */
export function useLoaded<Value>(load: Load<Value>, dependencies: readonly unknown[]): Loaded<Value> {
	return useLoading(load, dependencies, false);
}

/**
 * Like `useLoaded`, for secondary data, and for data that is the same at every revision. The status bar ignores the
 * revision of such data.
 */
export function useSideData<Value>(load: Load<Value>, dependencies: readonly unknown[]): Loaded<Value> {
	return useLoading(load, dependencies, true);
}

type Load<Value> = (signal: AbortSignal) => Promise<Value>;

function useLoading<Value>(load: Load<Value>, dependencies: readonly unknown[], accompanies: boolean): Loaded<Value> {
	/** Key of this data in `shownRevisions`. */
	const { current: shown } = useRef({});
	/** Dependencies with which the current value was loaded. */
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
					// The current value belongs to different dependencies, so discard it.
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

/** Records the revision of displayed data. `null` removes the data. */
function showRevision(shown: object, revision: number | null): void {
	const revisions = new Map(shownRevisions.peek());
	if (revision === null) revisions.delete(shown);
	else revisions.set(shown, revision);
	shownRevisions.value = revisions;
}

function isAway(error: unknown): boolean {
	return error instanceof ApiFailure && (error.status === 0 || error.status >= 502);
}
