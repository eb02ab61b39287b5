import { useEffect, useRef } from 'preact/hooks';

/**
 * Calls `work` repeatedly while the page is visible. Skips a turn while `isBusy`: if each turn restarted slow work, it
 * would never finish.
 */
export function usePolling(work: () => void, milliseconds: number, isBusy: boolean): void {
	const newest = useRef({ work, isBusy });
	newest.current = { work, isBusy };
	useEffect(() => {
		const timer = setInterval(() => {
			if (document.visibilityState === 'visible' && !newest.current.isBusy) newest.current.work();
		}, milliseconds);
		return () => clearInterval(timer);
	}, [milliseconds]);
}
