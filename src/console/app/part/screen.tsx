import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { storing } from '../../part/setter.js';
import { recordedCalls } from '../api.js';
import { AsCurl } from './as-curl.js';

interface ScreenProps {
	readonly title: string;
	/** Purpose of the screen, in one sentence. */
	readonly about?: ComponentChildren;
	/** Buttons next to the title. */
	readonly actions?: ComponentChildren;
	readonly children: ComponentChildren;
}

/** Screen with its content and its title. The title takes focus when the screen opens. */
export function Screen({ title, about, actions, children }: ScreenProps) {
	const heading = useRef<HTMLHeadingElement>(null);
	useLayoutEffect(() => {
		document.title = `${title} · Regolith`;
		heading.current?.focus({ preventScroll: true });
		return storing(recordedCalls, []);
	}, [title]);
	return (
		<>
			<header class="line screen-title">
				<h1 ref={heading} tabIndex={-1}>
					{title}
				</h1>
				<div class="line end">
					{actions}
					<AsCurl />
				</div>
			</header>
			{about !== undefined && <p class="quiet about">{about}</p>}
			{children}
		</>
	);
}
