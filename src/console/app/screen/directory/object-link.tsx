import { type DirectoryTab, directoryPath } from '../../../model/directory-path.js';
import { KeyLink } from '../../part/key-link.js';
import { screenPath } from '../../screen-path.js';

/** Link to a directory object's page. */
export function ObjectLink({ tab, name }: { readonly tab: DirectoryTab; readonly name: string }) {
	return <KeyLink href={screenPath(directoryPath(tab, name))} text={name} />;
}

/** Link back to a list. */
export function BackLink({ tab, children }: { readonly tab: DirectoryTab; readonly children: string }) {
	return (
		<p>
			<a href={screenPath(directoryPath(tab))}>← {children}</a>
		</p>
	);
}
