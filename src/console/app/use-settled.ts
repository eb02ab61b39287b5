import { useEffect, useState } from 'preact/hooks';

/** A value once it has not changed for a moment, so that typing does not ask the server at each key. */
export function useSettled<Value>(value: Value, milliseconds = 400): Value {
	const [settled, setSettled] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setSettled(value), milliseconds);
		return () => clearTimeout(timer);
	}, [value, milliseconds]);
	return settled;
}
