import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { management } from '../../api.js';
import { CodeText } from '../../part/code/code-text.js';
import { CopyButton } from '../../part/copy-button.js';
import { saveFile } from '../../save-file.js';
import { openSession } from '../../session.js';

/** Downloads for a policy: its files, and the bundle that includes the facts. The bundle requires an API key. */
export function PolicyDownload({ revision }: { readonly revision: number }) {
	const { environment } = openSession();
	const command = [
		`curl -sSf '${location.origin}/bundles/${environment.id}/rego' \\`,
		'  -H "Authorization: Bearer $PERMIT_API_KEY" -o bundle.tar.gz',
	].join('\n');
	const download = async () => {
		const archive = await management.get('/v2/projects/{proj_id}/envs/{env_id}/policies/{revision}/archive', {
			path: { revision: String(revision) },
			parseAs: 'blob',
		});
		saveFile(archive as unknown as Blob, `policy-of-${environment.key}-${revision}.tar`);
		announce('Policy downloaded.');
	};
	return (
		<section>
			<h2>Download</h2>
			<p>
				<ActionButton act={download}>Download policy of revision {revision} (.tar)</ActionButton> A folder for{' '}
				<code>opa</code> with rules, tables and generated tests, without facts.
			</p>
			<p>The bundle of the newest revision, with facts, for a standard OPA:</p>
			<CodeText>{command}</CodeText>
			<CopyButton text={command}>Copy</CopyButton>
		</section>
	);
}
