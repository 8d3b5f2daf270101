// The package expects a browser. In Node it lacks these.
globalThis.WebSocket = require('ws');
globalThis.localStorage = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
require('axios').defaults.adapter = 'fetch';
const { Client, CommunityRepository, PostRepository, SubscriptionLevels, getCommunityTopic, subscribeTopic } = require('@amityco/ts-sdk');

const { apiKey, regions } = require(require('node:path').resolve(process.argv[2]));
const url = regions.eu.baseUrl;

async function main() {
  Client.createClient(apiKey, 'eu', { apiEndpoint: { http: url, upload: url, mqtt: `${url.replace('http', 'ws')}/mqtt` } });
  await Client.login({ userId: 'dora', displayName: 'Dora' }, { sessionWillRenewAccessToken: renewal => renewal.renew() });
  const { data: community } = await CommunityRepository.createCommunity({ displayName: 'Gardening' });
  subscribeTopic(getCommunityTopic(community, SubscriptionLevels.POST));
  const target = { targetType: 'community', targetId: community.communityId };
  PostRepository.getPosts(target, ({ data: posts }) => { // is called again when a post is created
    console.log('posts:', posts?.map(post => post.data.text));
    if (posts?.length) process.exit();
  });
  await PostRepository.createPost({ ...target, dataType: 'text', data: { text: 'Hello' } });
}

main();
