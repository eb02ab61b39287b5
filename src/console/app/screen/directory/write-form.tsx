import type { ComponentChildren } from 'preact';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';

interface WriteFormProps {
	readonly title: string;
	/** Text of the button; by default, the title. */
	readonly button?: string;
	readonly send: () => Promise<void>;
	readonly children: ComponentChildren;
}

/** Collapsed form that changes an object. */
export function WriteForm({ title, button = title, send, children }: WriteFormProps) {
	const work = useWork();
	return (
		<details class="directory-write">
			<summary>{title}</summary>
			<form class="columns" onSubmit={work.submit(send)}>
				{children}
				<div class="line whole">
					<SubmitButton work={work}>{button}</SubmitButton>
				</div>
			</form>
			<Failure text={work.failure} />
		</details>
	);
}
