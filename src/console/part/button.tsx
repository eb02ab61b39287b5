import type { ButtonHTMLAttributes } from 'preact';

/** Button outside forms, or in a form that it does not send. */
export function Button(props: ButtonHTMLAttributes) {
	return <button type="button" {...props} />;
}
