// One signed-in user with an unmodified package, in the process that calls signIn.
require('./environment.js');
const { packages } = require('./packages.js');

// signIn loads the package, signs user in at the server of facts in region, and returns the package.
async function signIn({ version, facts, region, user }) {
  const sdk = require(packages[version]);
  createClient(sdk, facts, region);
  const established = await sdk.Client.login({ userId: user, displayName: user }, handler);
  if (!established) throw new Error(`${user} could not sign in`);
  return sdk;
}

const handler = { sessionWillRenewAccessToken: renewal => renewal.renew() };

function createClient(sdk, facts, region) {
  const http = facts.regions[region].baseUrl;
  // With the slash, because 7.20.0 joins the address and some paths without one.
  return sdk.Client.createClient(facts.apiKey, region, {
    apiEndpoint: { http: `${http}/`, upload: http, mqtt: `${http.replace('http', 'ws')}/mqtt` },
  });
}

// request sends a request with a token, and returns the decoded body of a successful response.
async function request(base, token, method, path, body) {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: status ${response.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

// plain returns what remains of a value when it is sent to another process.
function plain(value) {
  const seen = new WeakSet();
  const text = JSON.stringify(value, (_, member) => {
    if (member === null || typeof member !== 'object') return member;
    if (seen.has(member)) return undefined;
    seen.add(member);
    return member;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

module.exports = { signIn, createClient, handler, request, plain };
