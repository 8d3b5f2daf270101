// Feeds. The user is a member of the community in which bob writes.

const has = postId => ({ data }) => data.some(post => post.postId === postId);

// followed follows a feed, in which the posts of bob appear.
async function followed(t, start, { target = {}, live: appears = true } = {}) {
  const community = await t.community();
  await t.subscribe(t.raw.getCommunityTopic(community, t.raw.SubscriptionLevels.POST));
  const old = await t.foreignPost(target);
  const live = t.watch(callback => start(community, callback));
  await live.until("bob's post", has(old.postId));
  await t.bob.call('PostRepository.editPost', old.postId, { data: { text: 'Changed by bob' } });
  await live.until("bob's change", ({ data }) => data.some(post => post.data.text === 'Changed by bob'));
  if (!appears) return;
  const { postId } = await t.foreignPost(target);
  await live.until("bob's next post", has(postId));
}

// paged reads two pages of a feed by promise, as 6.35.3 does.
async function paged(t, query) {
  const old = await t.foreignPost();
  for (let i = 0; i < 12; i++) await t.foreignPost(); // more than one page
  const found = [];
  let queryToken;
  do {
    const { data, paging } = await query(queryToken ? { queryToken } : {});
    found.push(...data.map(({ postId }) => postId));
    queryToken = paging.next;
  } while (queryToken && found.length < 60);
  t.ok(found.includes(old.postId), `the post is not among ${found.length} posts`);
}

module.exports = {
  'FeedRepository.queryGlobalFeed': t => paged(t, t.sdk.FeedRepository.queryGlobalFeed),
  'FeedRepository.getCustomRankingGlobalFeed': async t => {
    if (t.version === '6') await paged(t, t.sdk.FeedRepository.getCustomRankingGlobalFeed);
    else await followed(t, (_, callback) => t.sdk.FeedRepository.getCustomRankingGlobalFeed({ limit: 20 }, callback), { live: false });
  },
  'FeedRepository.getGlobalFeed': t => followed(t, (_, callback) => t.sdk.FeedRepository.getGlobalFeed({ limit: 20 }, callback), { live: false }),
  'FeedRepository.getCommunityFeed': t => followed(t, ({ communityId }, callback) => t.sdk.FeedRepository.getCommunityFeed({ communityId, limit: 20 }, callback)),
  'FeedRepository.getUserFeed': async t => {
    const { data } = await t.bob.call('PostRepository.createPost', { targetType: 'user', targetId: t.bob.id, data: { text: t.name('On my wall') } });
    const live = t.watch(callback => t.sdk.FeedRepository.getUserFeed({ userId: t.bob.id, limit: 20 }, callback));
    await live.until("bob's post", has(data.postId));
  },
};
