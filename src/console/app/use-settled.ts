import { useEffect, useState } from 'preact/hooks';

/**
 * Returns a value after it has remained unchanged for a moment, so typing does not send a request for each key press.
 */
export function useSettled<Value>(value: Value, milliseconds = 400): Value {
	const [settled, setSettled] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setSettled(value), milliseconds);
		return () => clearTimeout(timer);
	}, [value, milliseconds]);
	return settled;
}
