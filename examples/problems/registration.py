"""Registration of two images: angle, scale and shift by gradients. Photograph: danielbuechele, CC BY 2.0."""

import numpy as np
from picture import plot
from sklearn.datasets import load_sample_image

import xpgrad.array_api as xp
from xpgrad.scipy import minimize, ndimage

TRUE = np.array([0.12, -0.06, 5.0, -7.0])  # angle, logarithm of the scale, shift


def moved(image, p):
    """Return the image, turned about its centre, scaled and shifted."""
    c, s = xp.cos(p[0]) * xp.exp(p[1]), xp.sin(p[0]) * xp.exp(p[1])
    matrix = xp.stack([xp.stack([c, -s]), xp.stack([s, c])])
    centre = np.array(image.shape) / 2
    return ndimage.affine_transform(image, matrix, centre - matrix @ (centre + p[2:]), order=1, mode="nearest")


def run():
    image = load_sample_image("china.jpg").mean(axis=2)[::4, ::4] / 255
    other = moved(image, TRUE).array + np.random.default_rng(0).normal(scale=0.05, size=image.shape)
    p = np.zeros(4)
    for sigma in (6, 2, 0.5):  # from coarse to fine
        a, b = (ndimage.gaussian_filter(each, sigma).array for each in (image, other))
        p = minimize(lambda p, a=a, b=b: 1e3 * xp.mean((moved(a, p) - b)[8:-8, 8:-8] ** 2), p, method="BFGS").x
    return image, other, p


if __name__ == "__main__":
    image, other, p = run()
    print(f"angle {p[0]:.4f}, scale {np.exp(p[1]):.4f}, shift {p[2]:.2f}, {p[3]:.2f}: to {np.abs(p - TRUE).max():.3f}")

    def draw(axes):
        for ax, shown in zip(axes, (image, other, moved(image, p).array - other), strict=True):
            ax.imshow(shown, cmap="gray")
            ax.set(xticks=[], yticks=[])

    plot(draw, 3, (8, 1.9))
