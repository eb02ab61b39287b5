import type { PolicyFile } from '../../../model/policy/policy-files.js';
import { tarArchive } from '../../../model/policy/tar-archive.js';
import { announce } from '../../../part/announce.js';
import { CopyButton } from '../../part/copy-button.js';
import { openSession } from '../../session.js';

interface PolicyDownloadProps {
	readonly files: readonly PolicyFile[];
	readonly revision: number;
	/** Publication time, in ISO 8601. */
	readonly publishedAt: string;
}

/** Downloads for a policy: its files, and the bundle that includes the facts. The bundle requires an API key. */
export function PolicyDownload({ files, revision, publishedAt }: PolicyDownloadProps) {
	const { environment } = openSession();
	const command = [
		`curl -sSf '${location.origin}/bundles/${environment.id}/rego' \\`,
		'  -H "Authorization: Bearer $PERMIT_API_KEY" -o bundle.tar.gz',
	].join('\n');
	const download = () => {
		const bytes = tarArchive(files, Math.floor(Date.parse(publishedAt) / 1000));
		const address = URL.createObjectURL(new Blob([bytes], { type: 'application/x-tar' }));
		const link = document.createElement('a');
		link.href = address;
		link.download = `policy-of-${environment.key}-${revision}.tar`;
		link.click();
		// Give the browser time to read the file.
		setTimeout(() => URL.revokeObjectURL(address), 60_000);
		announce('Policy downloaded.');
	};
	return (
		<section>
			<h2>Download</h2>
			<p>
				<button type="button" onClick={download}>
					Download policy of revision {revision} (.tar)
				</button>{' '}
				A folder for <code>opa</code> with rules, tables and generated tests, without facts.
			</p>
			<p>The bundle of the newest revision, with facts, for a standard OPA:</p>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
			<pre class="code" tabIndex={0}>
				{command}
			</pre>
			<CopyButton text={command}>Copy</CopyButton>
		</section>
	);
}
