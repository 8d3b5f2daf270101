// Posts: created, changed, moderated, and live.

// watched subscribes to the posts of the community, and follows one of bob's with getPost.
async function watched(t) {
  const post = await t.foreignPost();
  await subscribed(t);
  return post;
}

async function subscribed(t) {
  const community = await t.community();
  await t.subscribe(t.raw.getCommunityTopic(community, t.raw.SubscriptionLevels.POST));
  return community;
}

// reviewed returns a community in which moderators approve posts, with a post of bob that waits.
async function reviewed(t) {
  const { communityId } = await t.make('reviewed community', () => t.newCommunity({
    userIds: [t.bob.id], postSetting: t.raw.CommunityPostSettings.ADMIN_REVIEW_POST_REQUIRED,
  }));
  return t.foreignPost({ targetId: communityId });
}

async function textPost(t, create) {
  const { communityId } = await t.community();
  const { data } = await create({ targetType: 'community', targetId: communityId, data: { text: 'Rope #sale' }, metadata: { size: 7 }, tags: ['gear'] });
  t.equal(data.data.text, 'Rope #sale');
  t.equal(data.postedUserId, t.me);
  t.equal(data.targetId, communityId);
  t.equal(data.metadata.size, 7);
  t.same(data.tags, ['gear']);
}

async function edit(t, change) {
  const { postId } = await t.post();
  const { data } = await change(postId, { data: { text: 'Changed' } });
  t.equal(data.data.text, 'Changed');
  t.ok(Date.parse(data.editedAt) >= Date.parse(data.createdAt));
  t.equal((await t.bob.request('GET', `/api/v3/posts/${postId}`)).posts[0].data.text, 'Changed');
}

async function remove(t, path, permanent) {
  const { postId } = await t.post();
  const post = await path(postId);
  t.equal(post.postId, postId);
  t.equal(post.isDeleted, true);
  await t.rejects(t.bob.request('GET', `/api/v3/posts/${postId}`));
  if (permanent) await t.rejects(t.admin('GET', `/api/v3/posts/${postId}`));
}

// media creates a post with a file, and checks that the file is in its child.
async function media(t, type, create, upload) {
  const { communityId } = await t.community();
  const [file] = await upload();
  const { data } = await create({ targetType: 'community', targetId: communityId, data: { text: 'Look' }, attachments: [{ type, fileId: file.fileId }] });
  const { posts, postChildren } = await t.request('GET', `/api/v3/posts/${data.postId}`);
  const child = [...posts, ...postChildren].find(post => JSON.stringify(post.data).includes(file.fileId));
  t.ok(child, `no post has the file ${file.fileId}`);
  return { post: data, child };
}

const clip = t => t.raw.FileRepository.uploadClip(t.form('files', t.video, 'clip.mp4', 'video/mp4')).then(answer => answer.data);
const audio = t => t.raw.FileRepository.uploadAudio(t.form('file', t.sound, 'sound.mp3', 'audio/mpeg')).then(answer => answer.data);
const image = t => t.raw.FileRepository.uploadImage(t.imageForm()).then(answer => answer.data);

// The listeners of flags hear of the user's own flags from another device: Plaza keeps reporters anonymous.

// seen calls a function that follows bob's post, and then bob's change.
async function seen(t, start) {
  const post = await watched(t);
  const live = t.watch(callback => start(post.postId, callback));
  await live.until('the post', ({ data }) => data?.data.text === post.data.text);
  await t.bob.call('PostRepository.editPost', post.postId, { data: { text: 'Changed by bob' } });
  await live.until("bob's change", ({ data }) => data.data.text === 'Changed by bob');
  return { post, live };
}

const has = postId => ({ data }) => data.some(post => post.postId === postId);
const event = (name, act, condition = () => true) => async t => {
  const post = await watched(t);
  await t.listen(`PostRepository.${name}`, () => act(t, post), heard => heard.postId === post.postId && condition(heard));
};

// pinned pins a post as the administrator, and follows the pinned posts.
async function pinned(t, start, path) {
  const { postId, targetId } = await t.post();
  await t.admin('POST', path(postId, targetId));
  const live = t.watch(callback => start(targetId, callback));
  const { data } = await live.until('the pinned post', ({ data }) => data.some(pin => pin.referenceId === postId || pin.post?.postId === postId));
  t.ok(data.length >= 1);
}

module.exports = {
  'PostRepository.createPost': t => textPost(t, t.sdk.PostRepository.createPost),
  'PostRepository.updatePost': t => edit(t, t.sdk.PostRepository.updatePost),
  'PostRepository.editPost': t => edit(t, t.sdk.PostRepository.editPost),
  'PostRepository.deletePost': t => remove(t, t.sdk.PostRepository.deletePost),
  'PostRepository.softDeletePost': t => remove(t, t.sdk.PostRepository.softDeletePost),
  'PostRepository.hardDeletePost': t => remove(t, t.sdk.PostRepository.hardDeletePost, true),
  'PostRepository.getPostByIds': async t => {
    const posts = [await t.post(), await t.foreignPost()];
    const { data } = await t.sdk.PostRepository.getPostByIds(posts.map(post => post.postId));
    t.same(data.map(post => post.postId).sort(), posts.map(post => post.postId).sort());
  },
  'PostRepository.approvePost': async t => {
    const { postId } = await reviewed(t);
    const { data } = await t.sdk.PostRepository.approvePost(postId);
    t.equal(data.postId, postId);
    t.equal((await t.bob.request('GET', `/api/v3/posts/${postId}`)).posts[0].feedId, data.feedId);
  },
  'PostRepository.declinePost': async t => {
    const { postId } = await reviewed(t);
    const { data } = await t.sdk.PostRepository.declinePost(postId);
    t.equal(data.postId, postId);
    const { targetId } = data;
    const { posts } = await t.request('GET', `/api/v4/posts?targetType=community&targetId=${targetId}&feedType=declined`);
    t.ok(posts.some(post => post.postId === postId));
  },
  'PostRepository.flagPost': async t => {
    const { postId } = await t.foreignPost();
    t.equal(await t.sdk.PostRepository.flagPost(postId), true);
    t.equal((await t.request('GET', `/api/v3/posts/${postId}`)).posts[0].flagCount, 1);
  },
  'PostRepository.unflagPost': async t => {
    const { postId } = await t.foreignPost();
    await t.raw.PostRepository.flagPost(postId);
    t.equal(await t.sdk.PostRepository.unflagPost(postId), true);
    t.equal((await t.request('GET', `/api/v3/posts/${postId}`)).posts[0].flagCount, 0);
  },
  'PostRepository.isPostFlaggedByMe': async t => {
    const { postId } = await t.foreignPost();
    t.equal(await t.sdk.PostRepository.isPostFlaggedByMe(postId), false);
    await t.raw.PostRepository.flagPost(postId);
    t.equal(await t.sdk.PostRepository.isPostFlaggedByMe(postId), true);
  },
  'PostRepository.createClipPost': t => media(t, 'clip', t.sdk.PostRepository.createClipPost, () => clip(t)),
  'PostRepository.createAudioPost': t => media(t, 'audio', t.sdk.PostRepository.createAudioPost, () => audio(t)),
  'PostRepository.createMixedMediaPost': t => media(t, 'image', t.sdk.PostRepository.createMixedMediaPost, () => image(t)),
  'PostRepository.createRoomPost': async t => {
    const { communityId } = await t.community();
    const { data: room } = await t.raw.RoomRepository.createRoom({ title: t.name('Live') });
    const { data } = await t.sdk.PostRepository.createRoomPost({ targetType: 'community', targetId: communityId, data: { text: 'Watch', roomId: room.roomId } });
    const { posts, postChildren } = await t.request('GET', `/api/v3/posts/${data.postId}`);
    t.ok([...posts, ...postChildren].some(post => post.data.roomId === room.roomId));
  },
  'PostRepository.updateProductTags': async t => {
    const { post } = await media(t, 'image', t.raw.PostRepository.createPost, () => image(t));
    const product = await t.product();
    const { data } = await t.sdk.PostRepository.updateProductTags(post.postId, [{ productId: product.productId }]);
    t.equal(data.productTags[0].productId, product.productId);
  },
  'PostRepository.pinProduct': async t => {
    const product = await t.product();
    const { data: room } = await t.raw.RoomRepository.createRoom({ title: t.name('Live') });
    const { postId } = await t.post({ dataType: 'room', data: { text: 'Watch', roomId: room.roomId } });
    const { data } = await t.sdk.PostRepository.pinProduct(postId, product.productId);
    t.equal(data.pinnedProductId, product.productId);
  },
  'PostRepository.unpinProduct': async t => {
    const product = await t.product();
    const { postId } = await t.post();
    await t.request('PUT', `/api/v4/posts/${postId}`, { pinnedProductId: product.productId });
    const { data } = await t.sdk.PostRepository.unpinProduct(postId);
    t.ok(!data.pinnedProductId);
  },

  'PostRepository.getPost': async t => {
    const { post, live } = await seen(t, t.sdk.PostRepository.getPost);
    await t.bob.call('ReactionRepository.addReaction', 'post', post.postId, 'like');
    await live.until("bob's reaction", ({ data }) => data.reactionsCount === 1 && data.reactions.like === 1);
    await t.bob.call('PostRepository.deletePost', post.postId);
    await live.until('the deletion', ({ data }) => data.isDeleted);
  },
  'PostRepository.observePost': t => seen(t, t.sdk.PostRepository.observePost),
  'PostRepository.observePosts': async t => {
    const { communityId } = await subscribed(t);
    const live = t.watch(callback => t.sdk.PostRepository.observePosts({ targetType: 'community', targetId: communityId }, callback));
    const { postId } = await t.foreignPost();
    await live.heard("bob's post", post => post.postId === postId || post.data?.postId === postId);
  },
  'PostRepository.getPosts': async t => {
    const community = await t.newCommunity({ userIds: [t.bob.id] });
    const target = { targetType: 'community', targetId: community.communityId };
    const byBob = async () => (await t.bob.call('PostRepository.createPost', { ...target, data: { text: t.name('I am') } })).data;
    await t.subscribe(t.raw.getCommunityTopic(community, t.raw.SubscriptionLevels.POST));
    const created = t.watch(callback => t.raw.PostRepository.onPostCreated(callback));
    for (let i = 0; i < 4; i++) await byBob();
    const old = await byBob();
    await created.heard('the posts', post => post.postId === old.postId); // an event that comes later adds its post to the collection
    const live = t.watch(callback => t.sdk.PostRepository.getPosts({ ...target, limit: 2 }, callback));
    await live.until('the posts', snapshot => has(old.postId)(snapshot) && snapshot.hasNextPage);
    const { postId } = await byBob();
    await live.until("bob's post", has(postId));
    const count = live.last.data.length;
    live.last.onNextPage();
    await live.until('the next page', ({ data }) => data.length > count);
    await t.bob.call('PostRepository.deletePost', postId);
    await live.until('the deletion', snapshot => !has(postId)(snapshot));
  },
  'PostRepository.getPinnedPosts': t => pinned(t,
    (communityId, callback) => t.sdk.PostRepository.getPinnedPosts({ communityId, placement: 'default' }, callback),
    (postId, communityId) => `/api/v1/pinned-posts/communities/${communityId}/default/${postId}`),
  'PostRepository.getGlobalPinnedPosts': async t => {
    await t.admin('DELETE', '/api/v1/pinned-posts/global');
    await pinned(t, (_, callback) => t.sdk.PostRepository.getGlobalPinnedPosts({}, callback), postId => `/api/v1/pinned-posts/global/${postId}`);
  },
  'PostRepository.semanticSearchPosts': async t => {
    const { postId, targetId } = await t.post({ data: { text: 'Crampons and glacier equipment' } });
    const live = t.watch(callback => t.sdk.PostRepository.semanticSearchPosts({ query: 'glacier crampons', targetType: 'community', targetId }, callback));
    await live.until('the post', has(postId));
  },
  'PostRepository.searchPostsByHashtag': async t => {
    const { postId } = await t.post({ data: { text: 'Cheap #karabiner' }, hashtags: ['karabiner'] });
    const live = t.watch(callback => t.sdk.PostRepository.searchPostsByHashtag({ hashtags: ['karabiner'] }, callback));
    await live.until('the post', has(postId));
  },
  'PostRepository.getLiveRoomPosts': async t => {
    const live = t.watch(callback => t.sdk.PostRepository.getLiveRoomPosts(callback));
    await live.until('the posts', ({ data }) => Array.isArray(data));
  },
  'PostRepository.getCommunityLiveRoomPosts': async t => {
    const { communityId } = await t.community();
    const live = t.watch(callback => t.sdk.PostRepository.getCommunityLiveRoomPosts({ communityIds: [communityId] }, callback));
    await live.until('the posts', ({ data }) => Array.isArray(data));
  },

  'PostRepository.onPostCreated': async t => {
    await subscribed(t);
    let postId;
    const text = t.name('New');
    await t.listen('PostRepository.onPostCreated', async () => ({ postId } = await t.foreignPost({ data: { text } })), post => post.data.text === text);
    t.ok(postId);
  },
  'PostRepository.onPostUpdated': event('onPostUpdated', (t, { postId }) => t.bob.call('PostRepository.editPost', postId, { data: { text: 'Edited' } }), post => post.data.text === 'Edited'),
  'PostRepository.onPostDeleted': event('onPostDeleted', (t, { postId }) => t.bob.call('PostRepository.deletePost', postId), post => post.isDeleted),
  'PostRepository.onPostApproved': moderated('onPostApproved', 'approve'),
  'PostRepository.onPostDeclined': moderated('onPostDeclined', 'decline'),
  'PostRepository.onPostFlagged': event('onPostFlagged', (t, { postId }) => t.request('POST', `/api/v3/posts/${postId}/flag`), post => post.flagCount === 1),
  'PostRepository.onPostUnflagged': event('onPostUnflagged', async (t, { postId }) => {
    await t.request('POST', `/api/v3/posts/${postId}/flag`);
    await t.request('DELETE', `/api/v3/posts/${postId}/unflag`);
  }, post => post.flagCount === 0),
  'PostRepository.onPostReactionAdded': event('onPostReactionAdded', (t, { postId }) => t.carol.call('ReactionRepository.addReaction', 'post', postId, 'love'), post => post.reactions.love === 1),
  'PostRepository.onPostReactionRemoved': event('onPostReactionRemoved', async (t, { postId }) => {
    await t.carol.call('ReactionRepository.addReaction', 'post', postId, 'love');
    await t.carol.call('ReactionRepository.removeReaction', 'post', postId, 'love');
  }, post => post.reactionsCount === 0),
};

// moderated checks the listener of a decision that the administrator takes.
function moderated(name, decision) {
  return async t => {
    const { postId, targetId } = await reviewed(t);
    const { communities } = await t.request('GET', `/api/v3/communities/${targetId}`);
    await t.subscribe(t.raw.getCommunityTopic(communities[0], t.raw.SubscriptionLevels.POST));
    await t.listen(`PostRepository.${name}`, () => t.admin('POST', `/api/v3/posts/${postId}/${decision}`), post => post.postId === postId);
  };
}
