// Stories in a community.

const form = t => t.imageForm('files');
const create = async t => (await t.raw.StoryRepository.createImageStory('community', (await t.community()).communityId, form(t))).data;

// bobCreates creates a story of bob, with a file that the user uploaded. It has no referenceId: the packages do not remove
// the stories of other users that have one.
async function bobCreates(t) {
  const { communityId } = await t.make("bob's community", async () => (await t.bob.call('CommunityRepository.createCommunity', {
    displayName: t.name('Runners'), isPublic: true, userIds: [t.me],
  })).data);
  const [file] = await t.raw.FileRepository.uploadImage(t.imageForm()).then(({ data }) => data);
  const { stories } = await t.bob.request('POST', '/api/v4/stories', {
    data: { fileId: file.fileId, imageDisplayMode: 'fit' }, dataType: 'image', targetType: 'community', targetId: communityId, items: [],
  });
  return { ...stories[0], communityId };
}

const has = storyId => ({ data }) => data.some(story => story.storyId === storyId);

async function subscribed(t, communityId) {
  const { communities } = await t.request('GET', `/api/v3/communities/${communityId}`);
  await t.subscribe(t.raw.getCommunityStoriesTopic({ targetId: communities[0].communityId, targetType: 'community' }));
}

async function remove(t, path) {
  const { storyId } = await create(t);
  t.equal(await path(storyId), true);
  await t.rejects(t.bob.request('GET', `/api/v4/stories/${storyId}`));
}

module.exports = {
  'StoryRepository.createImageStory': async t => {
    const { communityId } = await t.community();
    const items = [{ type: 'hyperlink', data: { url: 'https://shop.example', customText: 'Ropes' } }];
    const { data } = await t.sdk.StoryRepository.createImageStory('community', communityId, form(t), { size: 7 }, 'fill', items);
    t.equal(data.dataType, 'image');
    t.equal(data.data.imageDisplayMode, 'fill');
    t.equal(data.metadata.size, 7);
    t.equal(data.items[0].data.customText, 'Ropes');
  },
  'StoryRepository.createVideoStory': async t => {
    const { communityId } = await t.community();
    const { data } = await t.sdk.StoryRepository.createVideoStory('community', communityId, t.form('files', t.video, 'story.mp4', 'video/mp4'));
    t.equal(data.dataType, 'video');
    t.ok(data.data.videoFileId.original);
  },
  'StoryRepository.softDeleteStory': t => remove(t, t.sdk.StoryRepository.softDeleteStory),
  'StoryRepository.hardDeleteStory': t => remove(t, t.sdk.StoryRepository.hardDeleteStory),
  'StoryRepository.getActiveStoriesByTarget': async t => {
    const { storyId, communityId } = await bobCreates(t);
    await subscribed(t, communityId);
    const live = t.watch(callback => t.sdk.StoryRepository.getActiveStoriesByTarget({ targetType: 'community', targetId: communityId }, callback));
    await live.until('the story', has(storyId));
    const other = await bobCreates(t);
    await live.until("bob's next story", has(other.storyId));
    await t.bob.call('StoryRepository.softDeleteStory', storyId);
    await live.until('the deletion', snapshot => !has(storyId)(snapshot));
  },
  'StoryRepository.getStoryByStoryId': async t => {
    const { storyId, communityId } = await bobCreates(t);
    await subscribed(t, communityId);
    const live = t.watch(callback => t.sdk.StoryRepository.getStoryByStoryId(storyId, callback));
    await live.until('the story', ({ data }) => data?.storyId === storyId);
    await t.bob.call('ReactionRepository.addReaction', 'story', storyId, 'like');
    await live.until("bob's reaction", ({ data }) => data.reactionsCount === 1);
  },
  'StoryRepository.getTargetById': async t => {
    const { communityId } = await bobCreates(t);
    const live = t.watch(callback => t.sdk.StoryRepository.getTargetById({ targetType: 'community', targetId: communityId }, callback));
    await live.until('the target', ({ data }) => data?.targetId === communityId && data.lastStoryExpiresAt);
  },
  'StoryRepository.getTargetsByTargetIds': async t => {
    const { communityId } = await bobCreates(t);
    const live = t.watch(callback => t.sdk.StoryRepository.getTargetsByTargetIds([{ targetType: 'community', targetId: communityId }], callback));
    await live.until('the target', ({ data }) => data.some(target => target?.targetId === communityId));
  },
  'StoryRepository.getStoriesByTargetIds': async t => {
    const { storyId, communityId } = await bobCreates(t);
    const live = t.watch(callback => t.sdk.StoryRepository.getStoriesByTargetIds({ targets: [{ targetType: 'community', targetId: communityId }] }, callback));
    await live.until('the story', has(storyId));
  },
  'StoryRepository.getGlobalStoryTargets': async t => {
    const { communityId } = await bobCreates(t);
    const live = t.watch(callback => t.sdk.StoryRepository.getGlobalStoryTargets({ seenState: 'all', limit: 10 }, callback));
    await live.until('the target', ({ data }) => data.some(target => target.targetId === communityId));
  },
};
