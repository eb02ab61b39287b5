import type { Signal } from '@preact/signals';

/** Returns an event handler that stores its value in a signal. */
export function setter<Value>(target: Signal<Value>): (value: Value) => void {
	return (value) => {
		target.value = value;
	};
}

/** Returns an event handler that stores `value` in a signal. */
export function storing<Value>(target: Signal<Value>, value: Value): () => void {
	return () => {
		target.value = value;
	};
}
