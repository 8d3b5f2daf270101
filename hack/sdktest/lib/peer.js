// A process of a user whom the user of the checks meets. It calls what the checks ask for.
const { signIn, request, plain } = require('./user.js');
const { resolve } = require('./packages.js');

const options = JSON.parse(process.argv[2]);
const base = options.facts.regions[options.region].baseUrl;

async function main() {
  const sdk = await signIn(options);
  process.on('message', async ({ id, path, args }) => {
    try {
      process.send({ id, value: plain(await act(sdk, path, args)) });
    } catch (error) {
      process.send({ id, error: `${path}: ${error.stack ?? error}` });
    }
  });
  process.send({ ready: true });
}

async function act(sdk, path, args) {
  if (path === 'request') return request(base, sdk.Client.getActiveClient().token.accessToken, ...args);
  return resolve(sdk, path)(...args);
}

process.on('unhandledRejection', error => console.error(`${options.user}: unhandled rejection:`, error));
main().catch(error => {
  console.error(error);
  process.exit(1);
});
