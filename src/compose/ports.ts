import { ConfigError } from '../config.js';
import { type createApplication, type Listening, listen, tryPort } from '../http/server.js';

/** Serves an application on a port. Rejects like `requirePort`. */
export async function listenAt(
	application: ReturnType<typeof createApplication>,
	host: string,
	port: number,
	setting: string,
): Promise<Listening> {
	try {
		return await listen(application, host, port);
	} catch (error) {
		throw portError(host, port, setting, error);
	}
}

/** Tries a port. If the port is not available, rejects with a `ConfigError` that names the setting. */
export async function requirePort(host: string, port: number, setting: string): Promise<void> {
	try {
		await tryPort(host, port);
	} catch (error) {
		throw portError(host, port, setting, error);
	}
}

function portError(host: string, port: number, setting: string, error: unknown): ConfigError {
	return new ConfigError(portProblem(host, port, setting, error as NodeJS.ErrnoException), { cause: error });
}

function portProblem(host: string, port: number, setting: string, { code, message }: NodeJS.ErrnoException): string {
	if (code === 'EADDRINUSE') {
		return `${setting}: port ${port} of ${host} is in use. Stop the program that uses it, or set ${setting} to a different port`;
	}
	if (code === 'EACCES') {
		return `${setting}: this user may not listen on port ${port}. Set ${setting} to a port above 1023`;
	}
	if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
		return `HOST: ${host} is not an address of this machine. Set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0`;
	}
	return `HOST, ${setting}: cannot listen on port ${port} of ${host}: ${message}`;
}
