import type { Signal } from '@preact/signals';

/** Returns an event handler that stores its value in a signal. */
export function setter<Value>(target: Signal<Value>): (value: Value) => void {
	return (value) => {
		target.value = value;
	};
}

/** Returns the props of a field whose value a signal stores. */
export function bound<Value>(value: Signal<Value>) {
	return { value: value.value, onValue: setter(value) };
}

/** Returns an event handler that stores `value` in a signal. */
export function storing<Value>(target: Signal<Value>, value: Value): () => void {
	return () => {
		target.value = value;
	};
}
