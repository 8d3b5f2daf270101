// Things that checks need. Methods of Check.

// community returns a community of the user with the other users as members.
function community() {
  return this.make('community', () => this.newCommunity({ userIds: [this.bob.id, this.carol.id] }));
}

async function newCommunity(bundle = {}) {
  const { data } = await this.raw.CommunityRepository.createCommunity({ displayName: this.name('Climbers'), isPublic: true, ...bundle });
  return data;
}

// post creates a post of the user in the community.
async function post(bundle = {}) {
  const { communityId } = await this.community();
  const { data } = await this.raw.PostRepository.createPost({
    targetType: 'community', targetId: communityId, data: { text: this.name('Who is in on Sunday?') }, ...bundle,
  });
  return data;
}

// foreignPost creates a post of bob in the community.
async function foreignPost(bundle = {}) {
  const { communityId } = await this.community();
  const { data } = await this.bob.call('PostRepository.createPost', {
    targetType: 'community', targetId: communityId, data: { text: this.name('I am') }, ...bundle,
  });
  return data;
}

// comment creates a comment of the user on a post.
async function comment(bundle = {}) {
  const referenceId = bundle.referenceId ?? (await this.make('commented post', () => this.post())).postId;
  const { data } = await this.raw.CommentRepository.createComment({
    referenceType: 'post', referenceId, data: { text: this.name('See you there') }, ...bundle,
  });
  return data;
}

// foreignComment creates a comment of bob on a post of the user.
async function foreignComment(bundle = {}) {
  const referenceId = bundle.referenceId ?? (await this.make('commented post', () => this.post())).postId;
  const { data } = await this.bob.call('CommentRepository.createComment', {
    referenceType: 'post', referenceId, data: { text: this.name('Bring ropes') }, ...bundle,
  });
  return data;
}

// channel returns a community channel of the user with the other users as members.
function channel() {
  return this.make('channel', () => this.newChannel());
}

async function newChannel(bundle = {}) {
  const { data } = await this.raw.ChannelRepository.createChannel({
    type: 'community', displayName: this.name('Wall'), userIds: [this.bob.id, this.carol.id], ...bundle,
  });
  return data;
}

// subChannelId returns the id of the default sub-channel of the channel.
async function subChannelId() {
  return (await this.channel()).defaultSubChannelId;
}

async function message(bundle = {}) {
  const { data } = await this.raw.MessageRepository.createMessage({
    subChannelId: await this.subChannelId(), dataType: 'text', data: { text: this.name('On my way') }, ...bundle,
  });
  return data;
}

async function foreignMessage(bundle = {}) {
  const { data } = await this.bob.call('MessageRepository.createMessage', {
    subChannelId: await this.subChannelId(), dataType: 'text', data: { text: this.name('Wait for me') }, ...bundle,
  });
  return data;
}

// imageForm returns the form of a picture.
function imageForm(field = 'files') {
  return form(field, png, 'rope.png', 'image/png');
}

// A picture of 8×6 pixels, and the first bytes of a video and of a sound.
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAEUlEQVR42mNQSFiAFTEMpAQAu3c2Aa+WV5oAAAAASUVORK5CYII=', 'base64');
const video = Buffer.from('\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2', 'latin1');
const sound = Buffer.from('ID3\x03\x00\x00\x00\x00\x00\x00', 'latin1');

function form(field, content, name, type) {
  const data = new FormData();
  data.append(field, new File([content], name, { type }));
  return data;
}

// product returns a product, which the administrator created.
function product() {
  return this.make('product', async () => {
    const { products } = await this.admin('POST', '/api/v1/products', { productName: this.name('Rope'), productUrl: 'https://shop.example/rope', currency: 'EUR', price: 90 });
    return products[0];
  });
}

// report tells the server what its media server would tell it of a stream or room: what is video-streaming or rooms.
async function report(what, id, event, streamKey) {
  const recordings = what === 'rooms'
    ? [{ url: 'https://media.example/1.mp4', thumbnailUrl: 'https://media.example/1.jpg' }]
    : [{ m3u8: { url: 'https://media.example/1.m3u8' } }];
  const labels = [{ category: 'violence', threshold: 0.9 }];
  const response = await fetch(`${this.world.base}/api/v1/media-server/${what}/${id}/events`, {
    method: 'POST', headers: { 'x-media-key': this.world.facts.mediaKey, 'content-type': 'application/json' },
    body: JSON.stringify({ event, streamKey, recordings, labels }),
  });
  if (!response.ok) throw new Error(`${event} of ${what} ${id}: status ${response.status}: ${await response.text()}`);
}

module.exports = {
  community, newCommunity, post, foreignPost, comment, foreignComment, channel, newChannel, subChannelId, message, foreignMessage,
  imageForm, form, png, video, sound, product, report,
};
