import type { ComponentChildren } from 'preact';
import { Button } from '../../part/button.js';
import type { Loaded } from '../use-loaded.js';

interface LoadedFrameProps<Value> {
	readonly loaded: Loaded<Value>;
	readonly children: (value: Value) => ComponentChildren;
}

/**
 * Frame for loaded data: shows the data, the loading state, or the failure. The old data remains visible during a
 * reload.
 */
export function LoadedFrame<Value>({ loaded, children }: LoadedFrameProps<Value>) {
	const { value, failure, loading } = loaded;
	return (
		<>
			{failure !== null && (
				<p class="failure" role="alert">
					{failure.message} <Button onClick={loaded.reload}>Try again</Button>
				</p>
			)}
			{value === null && loading && failure === null && <p class="quiet">Loading…</p>}
			{value !== null && <div aria-busy={loading}>{children(value)}</div>}
		</>
	);
}
